print("threadcast")
